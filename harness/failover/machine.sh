# First process of a machine in the failover proof: `machine.sh NAME ADDRESS DIRECTORY`. It has its own network, process
# and mount namespaces, and ends with the process that started it. Runs etcd and Patroni as their units do, and restarts
# them if they exit. Patroni is not restarted while the file `stopped` exists.
set -eu
name=$1 address=$2 home=$3
# Wait for a line on standard input: the parent process writes it once the network link exists.
read -r _
ip link set lo up
ip address add "$address/24" dev eth0
ip link set eth0 up
for path in /etc/patroni /etc/pgbackrest.conf /var/lib/postgresql /var/lib/etcd /var/spool/pgbackrest; do
  mount --bind "$home$path" "$path"
done
mkdir -p /run/postgresql
mount -t tmpfs -o mode=777 tmpfs /run/postgresql
keep() {
  while :; do
    if [ ! -e "$home/stopped" ] || [ "$1" = run_etcd ]; then
      "$1" &
      echo $! >"$home/$1.pid"
      wait $! || true
    fi
    sleep 1
  done
}
run_etcd() {
  set -a
  . "$home/etc/default/etcd"
  exec setpriv --reuid=etcd --regid=etcd --clear-groups etcd --log-level=warn
}
run_patroni() {
  set -a
  . /etc/patroni/almanac.env
  cd /
  exec setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/var/lib/postgresql \
    PGBACKREST_LOCK_PATH=/run/postgresql/lock PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 patroni /etc/patroni/config.yml
}
keep run_etcd >>"$home/etcd.log" 2>&1 &
keep run_patroni >>"$home/patroni.log" 2>&1 &
wait
