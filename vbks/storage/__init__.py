"""Storage: fits as plain values and arrays in files that are written whole and read with doubt."""

from vbks.storage.array_file import read_arrays, write_arrays
from vbks.storage.codec import Codec, Kind, PlainKind, StandIn
from vbks.storage.fit_codec import FITS
from vbks.storage.likelihood_encoding import decode_likelihood, encode_likelihood
from vbks.storage.records import Packing, Record, Unpacking, damaged, plain_number

__all__ = [
    "FITS",
    "Codec",
    "Kind",
    "Packing",
    "PlainKind",
    "Record",
    "StandIn",
    "Unpacking",
    "damaged",
    "decode_likelihood",
    "encode_likelihood",
    "plain_number",
    "read_arrays",
    "write_arrays",
]
