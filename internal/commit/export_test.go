package commit

// SetTogether bounds the names that a call looks at together. It returns a function that againes
// it.
func SetTogether(n int) (again func()) {
	was := together
	together = n
	return func() { together = was }
}
