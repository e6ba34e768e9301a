//go:build unix && !linux

package main

const wineVariable = ""

func hearingOrWine() { hearing() }
