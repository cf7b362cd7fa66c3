#!/usr/bin/env python3
"""Writes a closed catalogue as SQL text: Tests/Fixtures/catalogue-as-sql.py LIBRARY/catalogue.sqlite

Run it on a small library that the program of the version had made, when that version's schema is no longer the last.
"""
import sqlite3
import sys

database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
schema = database.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
virtual = [name for _, name, sql in schema if sql.startswith("CREATE VIRTUAL TABLE")]


def is_shadow(name):
    return any(name == f"{owner}_{kind}" for owner in virtual for kind in ["data", "idx", "content", "docsize", "config"])


def quoted(value):
    return database.execute("SELECT quote(?)", (value,)).fetchone()[0]


tables = [(name, sql) for kind, name, sql in schema
          if kind == "table" and name not in virtual and not is_shadow(name) and not name.startswith("sqlite_")]
for _, sql in tables:
    print(sql + ";")
for name in [name for name, _ in tables] + ["sqlite_sequence"]:
    # Generated columns are left out: they cannot be given.
    columns = ", ".join(row[1] for row in database.execute(f"PRAGMA table_xinfo({name})") if row[6] == 0)
    if name == "sqlite_sequence":
        print("DELETE FROM sqlite_sequence;")
    for row in database.execute(f"SELECT {columns} FROM {name} ORDER BY 1"):
        print(f"INSERT INTO {name} ({columns}) VALUES ({', '.join(map(quoted, row))});")
for kind in ["view", "table", "index", "trigger"]:
    for found, name, sql in schema:
        if found != kind or (kind == "table" and name not in virtual):
            continue
        print(sql + ";")
        if "USING fts5 " in sql:
            print(f"INSERT INTO {name} ({name}) VALUES ('rebuild');")
