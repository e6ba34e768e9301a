package main

// differs names the scripts that cannot hold on Windows, each with the reason.
var differs = map[string]string{}
