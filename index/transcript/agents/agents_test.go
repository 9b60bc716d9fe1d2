package agents_test

import (
	"slices"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/transcript/agents"
)

func TestRegistryIsThatOfTheContract(t *testing.T) {
	var ids []string
	for _, r := range agents.All() {
		agent := r.Agent()
		if agent.Label == "" || r.Version() < 1 {
			t.Errorf("%+v: a label and a version are needed", agent)
		}
		ids = append(ids, agent.ID)
	}
	if !slices.Equal(ids, contract.Agents()) {
		t.Errorf("registered %q, the contract has %q", ids, contract.Agents())
	}
}
