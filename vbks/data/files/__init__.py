"""Tables in files as people have them: delimited texts, workbooks and Parquet."""
