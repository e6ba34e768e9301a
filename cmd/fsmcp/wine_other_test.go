//go:build !linux

package main

const wineVariable = ""
