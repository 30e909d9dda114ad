// Package pdf renders Markdown as a PDF document.
package pdf

import (
	_ "codeberg.org/go-fonts/dejavu/dejavusans"
	_ "github.com/go-pdf/fpdf"
)
