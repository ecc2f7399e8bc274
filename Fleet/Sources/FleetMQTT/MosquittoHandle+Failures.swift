// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import FleetModel

/// Explains connection failures.
extension MosquittoHandle {
    /// Converts a result code into a failure; nil for success.
    func failure(_ result: Int32) -> MQTTFailure? {
        switch result {
        case MOSQ_ERR_SUCCESS.code: nil
        case MOSQ_ERR_TLS.code, MOSQ_ERR_TLS_HANDSHAKE.code:
            MQTTFailure(
                .untrusted,
                certificateCheck.reason(settings.address.host)
                    ?? "The TLS connection to \(settings.address) failed. Check ca, certificate and the host name."
            )
        case MOSQ_ERR_EAI.code, MOSQ_ERR_LOOKUP.code:
            MQTTFailure(.unreachable, "The host \(settings.address.host) was not found. Check the broker's address.")
        case MOSQ_ERR_ERRNO.code, MOSQ_ERR_CONN_REFUSED.code, MOSQ_ERR_CONN_LOST.code: closing
        case MOSQ_ERR_KEEPALIVE.code:
            MQTTFailure(.lost, "The broker does not answer any more. Check whether it hangs.", isExplained: true)
        case MOSQ_ERR_OVERSIZE_PACKET.code:
            MQTTFailure(.lost, "The message is too large for the broker. Raise its limit.", isExplained: true)
        case MOSQ_ERR_QOS_NOT_SUPPORTED.code:
            MQTTFailure(.lost, "The broker does not support QoS 1. Use a broker that does.", isExplained: true)
        case _ where !isAccepted:
            MQTTFailure(
                .unreachable,
                "The answer of \(settings.address) is not valid. \(supposition)"
            )
        default:
            MQTTFailure(.lost, "The connection was lost: \(unsafe String(cString: mosquitto_strerror(result)))")
        }
    }

    /// The failure to report when the socket is no longer usable.
    var closing: MQTTFailure {
        if isAccepted { return MQTTFailure(.lost, "The broker closed the connection.") }
        let address = settings.address
        guard wasConnected else {
            return MQTTFailure(.unreachable, "\(address) can't be reached. Is the broker running?")
        }
        return MQTTFailure(.unreachable, "\(address) closes the connection at once. \(supposition)")
    }

    /// Possible reasons why the broker closed the connection before accepting it.
    private var supposition: String {
        guard settings.address.usesTLS else { return "Perhaps it requires encryption (mqtts://), or is not a broker." }
        let certificate = settings.certificate == nil ? "requires a client certificate" : "rejects the certificate"
        return "Perhaps it \(certificate) (see [tls]), does not use encryption (mqtt://), or is not a broker."
    }
}
