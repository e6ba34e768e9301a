module github.com/fsmcp/fsmcp/testkit

go 1.26
