"""Count the words of text files, the most frequent ones first."""

import argparse
import collections
import pathlib
import re
import sys

WORD = re.compile(r"[^\W\d_]+", re.UNICODE)


class Counter:
    """Collects words of any number of files."""

    def __init__(self, minimum_length=1, ignore_case=True):
        self.minimum_length = minimum_length
        self.ignore_case = ignore_case
        self._words = collections.Counter()

    def add_file(self, path):
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                self.add(line)

    def add(self, text):
        if self.ignore_case:
            text = text.lower()
        for word in WORD.findall(text):
            if len(word) >= self.minimum_length:
                self._words[word] += 1

    def most_common(self, limit=None):
        return sorted(self._words.items(), key=lambda item: (-item[1], item[0]))[:limit]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-n", "--limit", type=int, default=20)
    options = parser.parse_args(arguments)
    counter = Counter(minimum_length=2)
    for path in options.files:
        try:
            counter.add_file(path)
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
    for word, count in counter.most_common(options.limit):
        print(f"{count:8d}  {word}")


if __name__ == "__main__":
    main()
