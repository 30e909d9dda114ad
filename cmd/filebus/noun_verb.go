package main

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
	actFlags
	face *face[T]
}

func (o *nounVerb[T]) prepare(cmd *cobra.Command) { o.actFlags.prepareSome(cmd, o.verb.Flags) }

func (o *nounVerb[T]) run(ctx context.Context, w *workspace, args []string) error {
	act := o.asked(w.environ)
	if len(args) > 1 {
		act.Of = args[1]
	}
	if o.face.do != nil {
		return o.face.do(ctx, w, o.verb, args[0], act)
	}
	e, err := o.face.open(w).Do(ctx, o.verb, args[0], act)
	return o.face.changed(w, e, err)
}

// actFlags are the flags of commands that do a verb.
type actFlags struct {
	act   noun.Act
	lease *pflag.Flag
}

// prepareSome gives cmd the flags of these names.
func (o *actFlags) prepareSome(cmd *cobra.Command, names []string) {
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

// check refuses what is no time to work in.
func (o *actFlags) check(*environ, []string) error {
	if o.act.Lease < time.Second {
		return usageError("--lease %v: a claim holds for at least a second", o.act.Lease)
	}
	return nil
}

// asked returns what is asked of an entry.
func (o *actFlags) asked(e *environ) noun.Act {
	a := o.act
	a.Agent = e.actor(a.Agent)
	if !o.lease.Changed {
		a.Lease = 0 // what is usual here
	}
	return a
}

// actor returns who acts: the flag, FILEBUS_AGENT, or the session.
func (e *environ) actor(flag string) string {
	return e.or(flag, append([]string{"FILEBUS_AGENT"}, sessionVariables()...)...)
}

// remarkLocal says of something that was claimed or begun how far that holds.
func (e *environ) remarkLocal(what string, isLocal bool) {
	if isLocal {
		e.remark("%s on this machine alone, until the others have heard of it", what)
	}
}
