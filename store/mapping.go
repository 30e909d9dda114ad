package store

import (
	"os"
	"runtime"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/folder"
)

// A mapping is the database as a reader has left it for the next one: to map it anew, and to
// have its pages there again, takes longer than most reads. It is not locked: one reader at a
// time takes it out of the Store, and others map the file for themselves.
type mapping struct {
	db    *bbolt.DB
	file  *os.File // its descriptor
	inode uint64
	size  int64 // of the file, when it was mapped
	rest  *time.Timer
}

// restAfter is how long a mapping is kept that nobody reads.
const restAfter = time.Second

// takeMapping returns the mapping that is kept, locked, if it is that of the file which is there now; else
// nil.
func (s *Store) takeMapping() *mapping {
	m := s.mapped.Swap(nil)
	if m == nil {
		return nil
	}
	m.rest.Stop()
	info, err := s.own.Stat(databaseFile)
	if err != nil || folder.Inode(info) != m.inode || info.Size() != m.size || !lockAgain(m.file) {
		_ = m.db.Close() // nothing was written
		return nil
	}
	return m
}

// keep leaves a database to the next reader.
func (s *Store) keep(d *database) {
	m := &mapping{db: d.DB, file: d.file, inode: d.now.inode, size: d.now.size}
	if runtime.GOOS == "windows" || s.opts.AllowUnsafeFS || m.inode == 0 || unlock(d.file) != nil {
		_ = d.Close() // nothing was written
		return
	}
	m.rest = time.AfterFunc(restAfter, func() {
		if s.mapped.CompareAndSwap(m, nil) {
			_ = m.db.Close() // as above
		}
	})
	if other := s.mapped.Swap(m); other != nil {
		other.rest.Stop()
		_ = other.db.Close() // as above
	}
}
