package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/cmd/filebus/noun"
)

// A nounVerb is a command that takes an entry from one state to another.
type nounVerb[T any] struct {
	verb noun.Verb
	ActFlags
	face *Face[T]
}

func (o *nounVerb[T]) Prepare(cmd *cobra.Command) { o.ActFlags.PrepareSome(cmd, o.verb.Flags) }

func (o *nounVerb[T]) Do(ctx context.Context, w *Work, args []string) error {
	act := o.Asked(w.Environ)
	if len(args) > 1 {
		act.Of = args[1]
	}
	if o.face.Do != nil {
		return o.face.Do(ctx, w, o.verb, args[0], act)
	}
	e, err := o.face.Open(w).Do(ctx, o.verb, args[0], act)
	return o.face.changed(w, e, err)
}

// ActFlags are the flags of commands that do a verb.
type ActFlags struct {
	act   noun.Act
	lease *pflag.Flag
}

// PrepareSome gives cmd the flags of these names.
func (o *ActFlags) PrepareSome(cmd *cobra.Command, names []string) {
	flags, a := pflag.NewFlagSet("", pflag.ContinueOnError), &o.act
	flags.StringVar(&a.Agent, "agent", "", "")
	flags.DurationVar(&a.Lease, "lease", noun.DefaultLease, "")
	flags.StringVar(&a.Task, "task", "", "")
	flags.BoolVar(&a.Force, "force", false, "")
	flags.StringVar(&a.Reason, "rationale", "", "")
	for _, name := range names {
		cmd.Flags().AddFlag(flags.Lookup(name))
	}
	o.lease = flags.Lookup("lease")
}

// Check refuses what is no time to work in.
func (o *ActFlags) Check(*Environ, []string) error {
	if o.act.Lease < time.Second {
		return UsageError("--lease %v: a claim holds for at least a second", o.act.Lease)
	}
	return nil
}

// Asked returns what is asked of an entry.
func (o *ActFlags) Asked(e *Environ) noun.Act {
	a := o.act
	a.Agent = e.Actor(a.Agent)
	if !o.lease.Changed {
		a.Lease = 0 // what is usual here
	}
	return a
}

// Actor returns who acts: the flag, FILEBUS_AGENT, or the session.
func (e *Environ) Actor(flag string) string {
	return e.Or(flag, append([]string{"FILEBUS_AGENT"}, SessionVariables()...)...)
}

// RemarkLocal says of something that was claimed or begun how far that holds.
func (e *Environ) RemarkLocal(what string, isLocal bool) {
	if isLocal {
		e.Remark("%s on this machine alone, until the others have heard of it", what)
	}
}
