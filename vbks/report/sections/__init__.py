"""Sections of the report: what each says, in texts and numbers."""
