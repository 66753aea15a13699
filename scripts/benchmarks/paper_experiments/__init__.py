"""The experiments of the VBKS paper (Teng et al., 2020), section 6 and appendix E."""
