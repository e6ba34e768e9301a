package doctor

import "testing"

func TestSandboxes(t *testing.T) {
	for _, row := range []struct {
		answer string
		status Status
		words  []string
	}{
		{`{"abi":7,"files":true,"calls":true}`, OK, []string{"/bin/decoder: files by Landlock (ABI 7), system calls by seccomp"}},
		{`{"abi":7,"calls":true,"cgo":true}`, Skip, []string{"files are not limited, system calls by seccomp", "CGO_ENABLED=0"}},
		{`{"abi":0,"calls":true}`, Skip, []string{"files are not limited", "no Landlock"}},
		{`{"abi":7,"calls":true}`, Skip, []string{"The kernel refused"}},
		{`{"abi":4,"files":true}`, Skip, []string{"files by Landlock (ABI 4), system calls are not limited"}},
		{`pdf`, Skip, []string{"does not say", "of one version"}},
	} {
		checks := Sandboxes("linux", []Decoder{{"/bin/decoder", row.answer}})
		if len(checks) != 1 {
			t.Fatalf("%d checks", len(checks))
		}
		says(t, checks[0], row.status, row.words...)
	}
	says(t, Sandboxes("windows", []Decoder{{"decoder.exe", `{"abi":0,"writes":true,"privileges":true,"programs":true}`}})[0], OK,
		"decoder.exe: changes nothing of yours (low integrity), has no privileges, starts no program (job)")
	says(t, Sandboxes("windows", []Decoder{{"decoder.exe", `{"abi":0,"privileges":true}`}})[0], Skip,
		"can change your files", "has no privileges", "can perhaps start programs")
	says(t, Sandboxes("darwin", []Decoder{{"/bin/decoder", `{"files":true,"programs":true,"network":true}`}})[0], OK,
		"/bin/decoder: files by sandbox-exec, no network, starts no program")
	says(t, Sandboxes("darwin", []Decoder{{"/bin/decoder", `{}`}})[0], Skip, "files are not limited", "the network is open", "can start programs")
	says(t, Sandboxes("freebsd", []Decoder{{"/bin/decoder", ""}})[0], Skip, "does not limit decoders")
}
