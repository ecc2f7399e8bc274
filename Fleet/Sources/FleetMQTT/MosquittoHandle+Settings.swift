// SPDX-License-Identifier: Apache-2.0
import CMosquitto
import FleetModel

extension MosquittoHandle {
    /// Sets the MQTT 5 connection properties: the session expiry interval and the maximum packet size.
    ///
    /// Only the blocking connect call takes properties. The keep-alive of 1 second makes this call fail before it
    /// connects, but it stores the properties, which the asynchronous call then uses.
    func setProperties() {
        var properties: OpaquePointer?
        let expiry = Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue)
        if settings.keepsSession { unsafe mosquitto_property_add_int32(&properties, expiry, Self.week) }
        unsafe mosquitto_property_add_int32(
            &properties,
            Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue),
            Self.largestPacket
        )
        unsafe mosquitto_connect_bind_v5(mosquitto, settings.address.host, 1, 1, nil, properties)
        unsafe mosquitto_property_free_all(&properties)
    }

    /// In bytes. The largest job (with the maximum number of UIDs) and all events are smaller.
    private static let largestPacket: UInt32 = 2 << 20
    /// One week in seconds.
    private static let week: UInt32 = 604_800

    /// Applies all settings needed before connecting.
    ///
    /// - Returns: why the settings can't be applied; nil on success.
    func configure() -> MQTTFailure? {
        var results = [
            unsafe mosquitto_int_option(mosquitto, MOSQ_OPT_PROTOCOL_VERSION, version),
            unsafe mosquitto_int_option(mosquitto, MOSQ_OPT_TCP_NODELAY, 1),
            // The publisher limits the messages in flight.
            unsafe mosquitto_int_option(mosquitto, MOSQ_OPT_SEND_MAXIMUM, 65535),
        ]
        if let will = settings.will {
            results.append(
                unsafe will.payload.withUnsafeBytes { bytes in
                    unsafe mosquitto_will_set(
                        mosquitto,
                        will.topic,
                        Int32(bytes.count),
                        bytes.baseAddress,
                        1,
                        true
                    )
                }
            )
        }
        if let user = settings.user {
            let password = settings.password.map { String(decoding: $0, as: UTF8.self) }
            results.append(unsafe mosquitto_username_pw_set(mosquitto, user, password))
        }
        if results.contains(where: { $0 != MOSQ_ERR_SUCCESS.code }) {
            return MQTTFailure(.refused, "libmosquitto rejects the settings. Check user, password and topics.")
        }
        return settings.address.usesTLS ? configureTLS() : nil
    }

    private func configureTLS() -> MQTTFailure? {
        let folder = settings.authorities == nil ? "/etc/ssl/certs" : nil
        let result = unsafe mosquitto_tls_set(
            mosquitto,
            settings.authorities,
            folder,
            settings.certificate,
            settings.key,
            nil
        )
        guard result == MOSQ_ERR_SUCCESS.code else {
            let files = [settings.authorities, settings.certificate, settings.key].compactMap(\.self)
            return MQTTFailure(
                .untrusted,
                "At least one of these files can't be read: \(files.joined(separator: ", "))."
            )
        }
        // Require a valid certificate that matches the host name.
        let strict = unsafe mosquitto_tls_opts_set(mosquitto, 1, nil, nil)
        guard strict == MOSQ_ERR_SUCCESS.code else { return MQTTFailure(.untrusted, "TLS can't be set up.") }
        return nil
    }
}
