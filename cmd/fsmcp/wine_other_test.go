//go:build !linux

package main

const wineVariable = ""

func proxyForWine() {}
