"""The commands of the program, a module each; `vbks.ui.cli` lists them."""
