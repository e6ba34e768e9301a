package raster_test

import (
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/raster"
)

func TestEngine(t *testing.T) { enginetest.Run(t, raster.Engine{}) }
