"""Storage: fits as plain values and arrays in files that are written whole and read with doubt."""

from vbks.storage.array_file import read_arrays, write_arrays
from vbks.storage.fit_encoding import FIT_ARRAYS, InducingInputs, decode_fit, encode_fit
from vbks.storage.likelihood_encoding import decode_likelihood, encode_likelihood
from vbks.storage.records import Packing, Record, Unpacking, damaged, plain_number

__all__ = [
    "FIT_ARRAYS",
    "InducingInputs",
    "Packing",
    "Record",
    "Unpacking",
    "damaged",
    "decode_fit",
    "decode_likelihood",
    "encode_fit",
    "encode_likelihood",
    "plain_number",
    "read_arrays",
    "write_arrays",
]
