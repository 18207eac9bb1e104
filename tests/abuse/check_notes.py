#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages the notes of a library in many ways, and lets a program that records open it and have it
preloaded: check_notes.py PROGRAM LIBRARY [--not-preloaded]

Whatever is wrong with the library, the program records and ends well. The library's own scopes are
in the report where the damage leaves its record to be found.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

program, library = sys.argv[1:3]
ways = (False,) if sys.argv[3:] == ["--not-preloaded"] else (False, True)
original = pathlib.Path(library).read_bytes()
PT_LOAD, PT_NOTE = 1, 4
FIELDS = ("type", "flags", "offset", "vaddr", "paddr", "filesz", "memsz", "align")
failures = []


class Elf:
    """A copy of the library. Addresses are those in its file."""

    def __init__(self):
        self.bytes = bytearray(original)
        self.table, self.count = struct.unpack_from("<Q", self.bytes, 32)[0], self.word(56, "<H")
        self.note = next(
            i
            for i in self.segments(PT_NOTE)
            if b"kprof-scope\0" in self.contents(i)
        )
        at = self.at(self.note, "offset") + self.contents(self.note).index(b"kprof-scope\0") - 12
        self.head = at  # in the file: name size, contents size, type; then name and distance
        # Notes that are aligned to 8 bytes the loader may read itself, and dies of some.
        self.put(self.note, align=4)
        self.place = at - self.at(self.note, "offset") + self.at(self.note, "vaddr") + 24

    def word(self, offset, form):
        return struct.unpack_from(form, self.bytes, offset)[0]

    def segments(self, kind):
        return [i for i in range(self.count) if self.at(i, "type") == kind]

    def offset_of(self, i, field):
        position = (0, 4, 8, 16, 24, 32, 40, 48)[FIELDS.index(field)]
        return self.table + 56 * i + position, "<I" if field in ("type", "flags") else "<Q"

    def at(self, i, field):
        return self.word(*self.offset_of(i, field))

    def put(self, i, **fields):
        for field, value in fields.items():
            offset, form = self.offset_of(i, field)
            struct.pack_into(form, self.bytes, offset, value)

    def contents(self, i):
        offset = self.at(i, "offset")
        return self.bytes[offset : offset + self.at(i, "filesz")]

    def load(self, flags):
        return next(i for i in self.segments(PT_LOAD) if self.at(i, "flags") == flags)

    def end(self, i):
        return self.at(i, "vaddr") + self.at(i, "memsz")

    def head_word(self, number, value):
        struct.pack_into("<I", self.bytes, self.head + 4 * number, value)

    def point_to(self, address):
        struct.pack_into("<q", self.bytes, self.head + 24, address - self.place)

    def move_by(self, distance):
        struct.pack_into("<q", self.bytes, self.head + 24, distance)

    def record(self):
        return self.word(self.head + 24, "<q") + self.place

    def in_file(self, address):
        for i in self.segments(PT_LOAD):
            distance = address - self.at(i, "vaddr")
            if 0 <= distance < self.at(i, "filesz"):
                return distance + self.at(i, "offset")
        raise ValueError(address)

    def room(self, mark, further=0):
        """Copies the record to where the library has room, `further` bytes from where it could be,
        and gives its address."""
        offset = self.bytes.index(mark)
        for i in self.segments(PT_LOAD):
            if self.at(i, "offset") <= offset < self.at(i, "offset") + self.at(i, "filesz"):
                address = offset - self.at(i, "offset") + self.at(i, "vaddr")
        further += -address % 8
        record = self.in_file(self.record())
        self.bytes[offset + further : offset + further + 40] = self.bytes[record : record + 40]
        return address + further


DAMAGES = {}
FOUND = set()  # those after which the record is still found


def damage(found=False):
    def take(change):
        name = change.__name__
        DAMAGES[name] = change
        if found:
            FOUND.add(name)
        return change

    return take


# ---- the segment

@damage(found=True)
def none(_):
    pass


@damage()
def segment_far_away(e):
    e.put(e.note, vaddr=0x7FF000000000)


@damage()
def segment_at_the_end_of_the_address_space(e):
    e.put(e.note, vaddr=2**64 - 64)


@damage()
def segment_behind_the_library(e):
    e.put(e.note, vaddr=e.end(e.segments(PT_LOAD)[-1]) + 0x10000)


@damage()
def segment_of_the_largest_size(e):
    e.head_word(2, 2)  # its own note is another, so that those behind it are read
    e.put(e.note, memsz=2**64 - 1)


@damage()
def segment_past_the_end_of_its_pages(e):
    e.head_word(2, 2)
    e.put(e.note, memsz=2**32)


@damage(found=True)
def segment_too_large_behind_its_note(e):
    e.put(e.note, memsz=2**40)


@damage()
def segment_without_size(e):
    e.put(e.note, memsz=0)


@damage()
def segment_smaller_than_a_note(e):
    e.put(e.note, memsz=5)


@damage(found=True)
def segment_of_a_senseless_alignment(e):
    e.put(e.note, align=3)


@damage()
def segment_at_the_last_bytes_that_are_mapped(e):
    last = e.segments(PT_LOAD)[-1]
    e.put(e.note, vaddr=e.end(last) - 8, memsz=4096)


@damage()
def segment_in_code_that_may_not_be_read(e):
    code = e.load(5)
    e.put(code, flags=1)
    e.put(e.note, vaddr=e.at(code, "vaddr"), memsz=256)


# ---- the note

@damage()
def name_of_the_largest_size(e):
    e.head_word(0, 2**32 - 1)


@damage()
def contents_of_the_largest_size(e):
    e.head_word(1, 2**32 - 1)


@damage()
def contents_too_small(e):
    e.head_word(1, 4)


@damage()
def contents_that_end_behind_the_segment(e):
    e.put(e.note, memsz=e.head - e.at(e.note, "offset") + 28)


@damage()
def note_of_zeroes(e):
    e.bytes[e.head : e.head + 24] = bytes(24)


@damage()
def note_of_ones(e):
    e.bytes[e.head : e.head + 32] = b"\xff" * 32


@damage()
def another_type(e):
    e.head_word(2, 7)


# ---- the distance

@damage()
def record_far_away(e):
    e.move_by(2**46)


@damage()
def record_far_before(e):
    e.move_by(-(2**46))


@damage()
def record_at_the_largest_distance(e):
    e.move_by(2**63 - 1)


@damage()
def record_in_the_note(e):
    e.move_by(0)


@damage()
def record_not_aligned(e):
    e.point_to(e.room(b"writable room", 4))


@damage()
def record_at_odd_address(e):
    e.point_to(e.record() + 1)


@damage()
def record_in_code(e):
    code = e.load(5)
    e.point_to(e.at(code, "vaddr") + 8)


@damage()
def record_in_constants(e):
    e.point_to(e.room(b"read-only room"))


@damage()
def record_in_memory_that_is_sealed(e):
    e.point_to(e.room(b"sealed room"))


@damage()
def record_over_the_end_of_the_data(e):
    e.point_to((e.end(e.segments(PT_LOAD)[-1]) - 16) & ~7)


@damage()
def record_behind_the_library(e):
    e.point_to(e.end(e.segments(PT_LOAD)[-1]) + 0x100000 & ~7)


@damage()
def record_of_another_size(e):
    struct.pack_into("<I", e.bytes, e.in_file(e.record()) + 4, 48)


@damage()
def record_of_another_layout(e):
    struct.pack_into("<I", e.bytes, e.in_file(e.record()), 1)


@damage()
def sealing_begins_within_the_page_of_the_record(elf):
    record = elf.room(b"sealed room")
    sealed = elf.segments(0x6474E552)[0]
    begin, end = record + 48, elf.end(sealed)
    skipped = begin - elf.at(sealed, "vaddr")
    offset, size = elf.at(sealed, "offset") + skipped, end - begin
    elf.put(sealed, vaddr=begin, offset=offset, memsz=size, filesz=size)
    elf.point_to(record)


@damage()
def note_is_mapped_over_without_rights(elf):
    address = (elf.end(elf.segments(PT_LOAD)[-1]) + 0x1FFFF) & ~0xFFF
    size = 0x2000
    elf.put(elf.segments(0x6474E550)[0], type=PT_LOAD, flags=0, offset=0, vaddr=address,
            paddr=address, filesz=size, memsz=size, align=4096)
    longer = elf.segments(PT_LOAD)[-3]
    elf.put(longer, memsz=address + size - elf.at(longer, "vaddr"))
    elf.put(elf.note, vaddr=address, memsz=4096)


def run(name, path, preload):
    env = {k: v for k, v in os.environ.items() if k not in ("KPROF", "COLUMNS")}
    if preload:
        env["LD_PRELOAD"] = str(path)
    r = subprocess.run(
        [program] if preload else [program, path],
        env=env,
        text=True,
        capture_output=True,
        timeout=60,
    )
    if r.returncode == 3:
        print(f"{name}: the loader does not open it: {r.stdout.strip()}")
        return
    how = "preloaded" if preload else "opened"
    recorded = "program" in r.stdout and (name not in FOUND or "library" in r.stdout)
    if name.startswith("record_of_another"):
        text = " ".join(r.stdout.split())
        recorded = recorded and "has guards of another build of kprof, which are not" in text
    if r.returncode != 7 or not recorded:
        failures.append(name)
        print(f"FAILED: {name}, {how}: ended with {r.returncode}\n{r.stdout}{r.stderr}")


with tempfile.TemporaryDirectory() as folder:
    for name, change in DAMAGES.items():
        elf = Elf()
        change(elf)
        path = pathlib.Path(folder) / f"{name}.so"
        path.write_bytes(elf.bytes)
        for preload in ways:
            run(name, path, preload)
print(f"{len(DAMAGES)} damages, {len(failures)} failures")
sys.exit(1 if failures else 0)
