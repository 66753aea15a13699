"""Names of months, in full or cut short, in the languages of many spreadsheets."""

from __future__ import annotations

MONTHS = (
    "jan january januar jän jänner janv janvier ene enero gen gennaio januari janeiro",
    "feb february februar fév fevr févr février febrero febbraio februari fev fevereiro",
    "mar march mär märz mrz mars marzo maart mrt março",
    "apr april avr avril abr abril aprile",
    "may mai mayo mag maggio mei maio maj",
    "jun june juni juin junio giu giugno junho",
    "jul july juli juil juillet julio lug luglio julho",
    "aug august août aout ago agosto augustus",
    "sep sept september septembre septiembre set settembre setembro",
    "oct october okt oktober octobre octubre ott ottobre out outubro",
    "nov november novembre noviembre novembro",
    "dec december dez dezember déc décembre dic diciembre dicembre desember dezembro",
)
"""The names of each month in small letters, from January on."""

NUMBERS = {name: number for number, names in enumerate(MONTHS, 1) for name in names.split()}
"""Numbers of months by their names."""
