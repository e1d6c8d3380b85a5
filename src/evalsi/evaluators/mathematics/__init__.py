"""Mathematics as it is written in answers: read, extracted, compared. Text in, verdict out; nothing here knows records."""
