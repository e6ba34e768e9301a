package greet

// Hello greets by name.
func Hello(name string) string {
	return "Hello, " + name
}
