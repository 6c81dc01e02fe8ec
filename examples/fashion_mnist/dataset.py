"""Fashion-MNIST as Debian's package dataset-fashion-mnist installs it: gzipped IDX files."""

import gzip
import pathlib
import struct

import numpy as np

DEBIAN_DIR = "/usr/share/datasets/fashion-mnist"

IDX_UBYTE = 0x08  # the only element type that these files use


def read_idx(path):
    """Reads one gzipped IDX file of bytes; raises ValueError if it is anything else."""
    with gzip.open(path, "rb") as file:
        raw = file.read()
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != IDX_UBYTE:
        raise ValueError(f"'{path}' is no IDX file of bytes")
    rank = raw[3]
    data_at = 4 + 4 * rank
    if len(raw) < data_at:
        raise ValueError(f"'{path}' ends inside its header")
    shape = struct.unpack(f">{rank}I", raw[4:data_at])
    want = int(np.prod(shape, dtype=np.int64))
    if len(raw) - data_at != want:
        raise ValueError(f"'{path}' has {len(raw) - data_at} bytes of data, must have {want}")
    return np.frombuffer(raw, np.uint8, offset=data_at).reshape(shape)


def load_split(split, folder=DEBIAN_DIR):
    """Returns (images, labels) of split "train" or "t10k".

    Images are float32 [count, 784], pixel / 255; labels are int64 [count].
    """
    folder = pathlib.Path(folder)
    try:
        images = read_idx(folder / f"{split}-images-idx3-ubyte.gz")
        labels = read_idx(folder / f"{split}-labels-idx1-ubyte.gz")
    except FileNotFoundError as error:
        raise SystemExit(
            f"no data set: '{error.filename}' is missing (Debian: apt-get install "
            "dataset-fashion-mnist; elsewhere: --data FOLDER)"
        ) from None
    except (OSError, EOFError, ValueError) as error:
        raise SystemExit(f"cannot read the data set: {error}") from None
    if images.shape[1:] != (28, 28) or labels.shape != images.shape[:1]:
        raise SystemExit(
            f"'{folder}' is no Fashion-MNIST: images are {images.shape}, labels {labels.shape}"
        )
    pixels = images.reshape(len(images), 784).astype(np.float32) / np.float32(255)
    return pixels, labels.astype(np.int64)


def accuracy(logits, labels):
    """The share of rows of logits [count, 10] whose largest entry is at the label."""
    return float(np.mean(np.argmax(logits, axis=1) == labels))
