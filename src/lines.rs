//! Endpoint lines: the text format of files, remote lists and TXT records.
