#!/bin/sh
set -e
make all
