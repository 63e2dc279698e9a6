#!/bin/sh
# Makes everything secret that several nodes share, in a new directory:
#   sh deploy/secrets.sh DIRECTORY NATS_SERVER…        for example: sh deploy/secrets.sh secrets nats-1 nats-2 nats-3
#
#   ca.pem, ca.key        an authority for the NATS servers alone; the nodes need ca.pem, and ca.key belongs in a safe place
#   cert.pem, key.pem     the certificate of the NATS servers, for all names given (or IP addresses), valid for two years
#   passwords.conf        the passwords of the NATS users, for the servers
#   secrets.env           the same passwords for the nodes, VOXGATE_SECRET, VOXGATE_VAULT_KEY and VOXGATE_METRICS_TOKEN
#
# VOXGATE_SECRET and VOXGATE_VAULT_KEY of a gateway that runs already are kept: give them in the environment.
set -eu
umask 077
if [ $# -lt 2 ]; then
  echo 'Name a new directory and at least one NATS server: sh deploy/secrets.sh secrets nats-1 nats-2 nats-3' >&2
  exit 64
fi
directory=$1
shift
if [ -e "$directory" ]; then
  echo "$directory exists: name a directory that does not, so that no secret in use is replaced." >&2
  exit 73
fi
names=
for server in "$@"; do
  case $server in
    *[!0-9.]*) case $server in *:*) kind=IP ;; *) kind=DNS ;; esac ;;
    *) kind=IP ;;
  esac
  names="$names${names:+,}$kind:$server"
done
mkdir -p "$directory"
cd "$directory"

key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
# $key is several words.
# shellcheck disable=SC2086
openssl req -x509 $key -days 3650 -subj '/CN=Voxgate NATS authority' -keyout ca.key -out ca.pem \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign 2> /dev/null
printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n' "$names" > extensions
# shellcheck disable=SC2086
openssl req $key -subj '/CN=Voxgate NATS' -keyout key.pem -out request 2> /dev/null
openssl x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 730 -extfile extensions -out cert.pem 2> /dev/null
rm -f extensions request ca.srl
# Everybody may know the authority, and containers read it as another user.
chmod 644 ca.pem

{
  echo "VOXGATE_SECRET=${VOXGATE_SECRET:-$(openssl rand -hex 32)}"
  echo "VOXGATE_VAULT_KEY=${VOXGATE_VAULT_KEY:-$(openssl rand -base64 32)}"
  echo "VOXGATE_METRICS_TOKEN=$(openssl rand -hex 32)"
} > secrets.env
for user in NODE EDGE UPSTREAM ACCOUNTS OPERATOR; do
  password=$(openssl rand -hex 24)
  echo "${user}_PASSWORD: \"$password\"" >> passwords.conf
  echo "${user}_PASSWORD=$password" >> secrets.env
done
