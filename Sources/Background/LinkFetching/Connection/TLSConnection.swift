// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A connection of TLS 1.2 or later to a host whose certificate was checked.
///
/// It blocks, and belongs to the thread that made it.
@safe final class TLSConnection {
    private let library: LibSSL
    private let socket: TCPSocket
    private let context: OpaquePointer
    private let connection: OpaquePointer

    private enum Number {
        static let minimumVersion: CInt = 123
        static let serverName: CInt = 55
        static let version12: CLong = 0x0303
        static let verifyPeer: CInt = 1
        static let wantRead: CInt = 2
        static let wantWrite: CInt = 3
        static let systemCall: CInt = 5
        static let ended: CInt = 6
    }

    /// Shakes hands.
    ///
    /// - Parameters:
    ///   - socket: the connection below.
    ///   - host: the name that the certificate has to be for.
    ///   - authorities: a file of certificates, in PEM, that are trusted in place of the system's.
    init(_ socket: TCPSocket, host: String, authorities: String?) throws(FetchError) {
        let library = try LibSSL.shared.get()
        self.library = library
        self.socket = socket
        let failure = FetchError(.tls, "OpenSSL can't make a connection.")
        guard let context = unsafe library.newContext(library.clientMethod()) else { throw failure }
        guard let connection = unsafe Self.prepare(library, context, authorities) else {
            unsafe library.freeContext(context)
            throw FetchError(.certificate, "The certificates of the authorities can't be read.")
        }
        unsafe self.context = context
        unsafe self.connection = connection
        var name = host.utf8CString
        let isNamed = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe library.setHost(connection, name.baseAddress) == 1
                && library.controlConnection(
                    connection,
                    Number.serverName,
                    0,
                    UnsafeMutableRawPointer(name.baseAddress)
                )
                    == 1
        }
        guard isNamed, unsafe library.setDescriptor(connection, socket.descriptor) == 1 else { throw failure }
        while true {
            library.clearErrors()
            let result = unsafe library.connect(connection)
            if result == 1 { return }
            try wait(after: result)
        }
    }

    deinit {
        unsafe library.freeConnection(connection)
        unsafe library.freeContext(context)
    }

    private static func prepare(
        _ library: LibSSL,
        _ context: OpaquePointer,
        _ authorities: String?
    ) -> OpaquePointer? {
        unsafe library.setVerify(context, Number.verifyPeer, nil)
        guard unsafe library.controlContext(context, Number.minimumVersion, Number.version12, nil) == 1 else {
            return nil
        }
        let isTrusting =
            if let authorities { unsafe library.loadAuthorities(context, authorities, nil) } else {
                unsafe library.setDefaultAuthorities(context)
            }
        return isTrusting == 1 ? unsafe library.newConnection(context) : nil
    }

    /// Sends all octets.
    func send(_ octets: [UInt8]) throws(FetchError) {
        while true {
            library.clearErrors()
            // Without partial writes, which are off, all of it is sent or none.
            let result = unsafe octets.withUnsafeBytes { bytes in
                unsafe library.write(connection, bytes.baseAddress, CInt(bytes.count))
            }
            if result > 0 { return }
            try wait(after: result)
        }
    }

    /// Receives what comes next.
    ///
    /// - Returns: at least one octet, or none when the other side has ended the connection as it should.
    func receive() throws(FetchError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            library.clearErrors()
            let result = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe library.read(connection, bytes.baseAddress, CInt(bytes.count))
            }
            if result > 0 { return Array(buffer[..<Int(result)]) }
            if unsafe library.error(connection, result) == Number.ended { return [] }
            try wait(after: result)
        }
    }

    /// Waits for what the last call needs to go on, or tells why it can't.
    private func wait(after result: CInt) throws(FetchError) {
        switch unsafe library.error(connection, result) {
        case Number.wantRead: try socket.wait(for: POLLIN)
        case Number.wantWrite: try socket.wait(for: POLLOUT)
        case let code:
            let verdict = unsafe library.verifyResult(connection)
            guard verdict == 0 else {
                let text = unsafe library.verifyText(verdict).map { unsafe String(cString: $0) } ?? "\(verdict)"
                throw FetchError(.certificate, "The site's certificate is not valid: \(text).")
            }
            throw code == Number.systemCall
                ? FetchError(.truncated, "The site closed the connection.")
                : FetchError(.tls, "The encrypted connection failed, or ended where it should not.")
        }
    }
}
