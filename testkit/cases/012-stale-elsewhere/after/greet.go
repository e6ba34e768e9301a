package greet

// Hello greets politely.
func Hello(name string) string {
	return "Good day, " + name
}
