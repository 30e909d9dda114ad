package remote

import (
	"time"

	"github.com/nats-io/nats.go"
)

func NatsProbe(u string) error {
	nc, err := nats.Connect(u, nats.UserCredentials("x"), nats.RootCAs("y"), nats.ClientCert("a", "b"))
	if err != nil {
		return err
	}
	_, err = nc.RequestMsg(nats.NewMsg("x"), time.Second)
	_, err = nc.SubscribeSync("x")
	return err
}
