package doctor

import "fmt"

// DecoderProgram is a program that decodes pictures or documents for fsmcp.
type DecoderProgram struct {
	Name    string
	Path    string // "" if it is not found
	Version string // what it says of itself; "" if it does not start
	Without string // what is missing without it, as a sentence without its period
	Install string // how to get it, a sentence
	Needed  bool   // its absence is worth a warning
}

// Engines checks the programs that fsmcp finds.
func Engines(list []DecoderProgram) (checks []Check) {
	for _, e := range list {
		c := Check{Name: NameEngines}
		switch {
		case e.Path == "":
			c.Status, c.Detail, c.Remedy = Skip, fmt.Sprintf("%s is not there: %s", e.Name, e.Without), e.Install
			if e.Needed {
				c.Status = Warn
			}
		case e.Version == "":
			c.Status, c.Detail = Warn, fmt.Sprintf("%s does not start: %s", e.Path, e.Without)
			c.Remedy = fmt.Sprintf("Run %s version to see why. %s", e.Path, e.Install)
		default:
			c.Status, c.Detail = OK, fmt.Sprintf("%s: %s", e.Path, e.Version)
		}
		checks = append(checks, c)
	}
	return checks
}
