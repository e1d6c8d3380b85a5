"""Datasets: from files, streams and objects to records, with every mistake named by file, line and column."""

from evalsi.datasets.confined_path import confined_path
from evalsi.datasets.dataset import Dataset, RecordBatch, open_dataset
from evalsi.datasets.options import FORMATS, DatasetOptions, mapping_of_flags
from evalsi.datasets.record_of_row import encode_record, parse_record
from evalsi.datasets.scan import DatasetFacts, SkippedRow

__all__ = [
    "FORMATS",
    "Dataset",
    "DatasetFacts",
    "DatasetOptions",
    "RecordBatch",
    "SkippedRow",
    "confined_path",
    "encode_record",
    "mapping_of_flags",
    "open_dataset",
    "parse_record",
]
