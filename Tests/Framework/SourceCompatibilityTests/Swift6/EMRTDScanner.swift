// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A complete scanner of electronic travel documents: the application, basic access control with keys
// from the printed zone, and files through secure messaging. On a phone CommonCrypto is behind the protocol.

protocol DocumentCryptography: Sendable {
    func sha1(_ data: Data) throws -> Data
    /// Triple DES with two keys, chained from zero, without padding.
    func tripleDES(_ data: Data, key: Data, encrypts: Bool) throws -> Data
    /// ISO 9797-1, algorithm 3, of data that are padded already.
    func retailMAC(_ data: Data, key: Data) throws -> Data
}

enum DocumentError: Error, Equatable {
    case wrongZone
    case refused(UInt8, UInt8)
    case forged
}

/// The session's keys, and the counter of what went over the air.
struct SecureChannel {
    private let cryptography: any DocumentCryptography
    private let encryptionKey: Data
    private let macKey: Data
    private var counter: UInt64

    init(_ cryptography: any DocumentCryptography, seed: Data, counter: UInt64 = 0) throws {
        self.cryptography = cryptography
        encryptionKey = try cryptography.sha1(seed + [0, 0, 0, 1]).prefix(16)
        macKey = try cryptography.sha1(seed + [0, 0, 0, 2]).prefix(16)
        self.counter = counter
    }

    func encrypt(_ data: Data) throws -> Data {
        try cryptography.tripleDES(data, key: encryptionKey, encrypts: true)
    }

    func decrypt(_ data: Data) throws -> Data {
        try cryptography.tripleDES(data, key: encryptionKey, encrypts: false)
    }

    func mac(_ data: Data) throws -> Data {
        try cryptography.retailMAC(Self.padded(data), key: macKey)
    }

    private static func padded(_ data: Data) -> Data {
        data + [0x80] + Data(count: 7 - data.count % 8)
    }

    private func countedMAC(_ data: Data) throws -> Data {
        try mac(withUnsafeBytes(of: counter.bigEndian) { Data($0) } + data)
    }

    mutating func protect(_ command: NFCISO7816APDU) throws -> NFCISO7816APDU? {
        counter += 1
        let header = Data([0x0C, command.instructionCode, command.p1Parameter, command.p2Parameter])
        var objects = Data()
        if let data = command.data, !data.isEmpty {
            let secret = try encrypt(Self.padded(data))
            objects += [0x87, UInt8(secret.count + 1), 0x01] + secret
        }
        if command.expectedResponseLength > 0 {
            objects += [0x97, 0x01, UInt8(truncatingIfNeeded: command.expectedResponseLength)]
        }
        let code = try countedMAC(Self.padded(header) + objects)
        objects += [0x8E, 0x08] + code
        return NFCISO7816APDU(data: header + [UInt8(objects.count)] + objects + [0x00])
    }

    mutating func open(_ response: Data) throws -> Data {
        counter += 1
        guard response.count >= 14, try countedMAC(response.dropLast(10)) == response.suffix(8) else {
            throw DocumentError.forged
        }
        let secret = response.dropLast(14)
        guard secret.first == 0x87 else { return Data() }
        let start = secret.startIndex + (secret[secret.startIndex + 1] < 0x80 ? 3 : 4)
        let plain = try decrypt(secret[start...])
        guard let end = plain.lastIndex(of: 0x80) else { throw DocumentError.forged }
        return plain[..<end]
    }
}

@MainActor
final class DocumentScanner: NSObject, @MainActor NFCTagReaderSessionDelegate {
    private let cryptography: any DocumentCryptography
    /// The document number, the date of birth and the date of expiry, each with its check digit.
    private let access: String
    private var wanted: [UInt16] = []
    private var session: NFCTagReaderSession?
    private var continuation: CheckedContinuation<[UInt16: Data], any Error>?

    init(access: String, cryptography: any DocumentCryptography) {
        self.access = access
        self.cryptography = cryptography
    }

    func scan(_ files: [UInt16]) async throws -> [UInt16: Data] {
        wanted = files
        return try await withCheckedThrowingContinuation { continuation in
            self.continuation = continuation
            session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
            session?.alertMessage = "Hold your phone on the document."
            session?.begin()
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard case .iso7816(let tag)? = tags.first else { return session.restartPolling() }
        Task {
            do {
                try await session.connect(to: .iso7816(tag))
                var channel = try await open(tag)
                var files: [UInt16: Data] = [:]
                for file in wanted {
                    session.alertMessage = "Reading \(files.count + 1) of \(wanted.count)."
                    files[file] = try await read(file, of: tag, &channel)
                }
                finish(.success(files))
                session.invalidate()
            } catch {
                finish(.failure(error))
                session.invalidate(errorMessage: "The document could not be read.")
            }
        }
    }

    private func finish(_ result: Result<[UInt16: Data], any Error>) {
        continuation?.resume(with: result)
        continuation = nil
        session = nil
    }

    // MARK: Basic access control

    private func open(_ tag: any NFCISO7816Tag) async throws -> SecureChannel {
        guard tag.initialSelectedAID == "A0000002471001" else { throw DocumentError.refused(0x6A, 0x82) }
        let keys = try SecureChannel(cryptography, seed: cryptography.sha1(Data(access.utf8)).prefix(16))
        let challenge = try await send(command(0x84, 0, 0, expecting: 8), to: tag)
        let random = Data((0..<8).map { _ in UInt8.random(in: 0...255) })
        let part = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
        let proof = try keys.encrypt(random + challenge + part)
        let answer: Data
        do {
            answer = try await send(command(0x82, 0, 0, proof + keys.mac(proof), expecting: 40), to: tag)
        } catch DocumentError.refused(0x63, _) {
            throw DocumentError.wrongZone
        }
        guard answer.count == 40, try keys.mac(answer.prefix(32)) == answer.suffix(8) else {
            throw DocumentError.forged
        }
        let plain = try keys.decrypt(answer.prefix(32))
        guard plain.prefix(16) == challenge + random else { throw DocumentError.forged }
        let seed = Data(zip(plain.suffix(16), part).map { $0 ^ $1 })
        let counter = (challenge.suffix(4) + random.suffix(4)).reduce(0) { $0 << 8 | UInt64($1) }
        return try SecureChannel(cryptography, seed: seed, counter: counter)
    }

    // MARK: Files

    private func read(
        _ file: UInt16,
        of tag: any NFCISO7816Tag,
        _ channel: inout SecureChannel
    ) async throws -> Data {
        let identifier = Data([UInt8(file >> 8), UInt8(file & 0xFF)])
        _ = try await send(command(0xA4, 0x02, 0x0C, identifier, expecting: -1), to: tag, &channel)
        var contents = try await send(command(0xB0, 0, 0, expecting: 4), to: tag, &channel)
        let size = Self.size(contents)
        while contents.count < size {
            let next = command(
                0xB0,
                UInt8(contents.count >> 8),
                UInt8(contents.count & 0xFF),
                expecting: min(0xDF, size - contents.count)
            )
            contents += try await send(next, to: tag, &channel)
        }
        return contents
    }

    /// The size of a file whose first four bytes are its tag and its length.
    private static func size(_ head: Data) -> Int {
        let bytes = [UInt8](head)
        return switch bytes[1] {
        case 0x81: 3 + Int(bytes[2])
        case 0x82: 4 + Int(bytes[2]) << 8 + Int(bytes[3])
        default: 2 + Int(bytes[1])
        }
    }

    // MARK: Commands

    private func command(
        _ instruction: UInt8,
        _ p1: UInt8,
        _ p2: UInt8,
        _ data: Data = Data(),
        expecting length: Int
    ) -> NFCISO7816APDU {
        NFCISO7816APDU(
            instructionClass: 0,
            instructionCode: instruction,
            p1Parameter: p1,
            p2Parameter: p2,
            data: data,
            expectedResponseLength: length
        )
    }

    private func send(_ command: NFCISO7816APDU, to tag: any NFCISO7816Tag) async throws -> Data {
        let (data, sw1, sw2) = try await tag.sendCommand(apdu: command)
        guard sw1 == 0x90, sw2 == 0x00 else { throw DocumentError.refused(sw1, sw2) }
        return data
    }

    private func send(
        _ command: NFCISO7816APDU,
        to tag: any NFCISO7816Tag,
        _ channel: inout SecureChannel
    ) async throws -> Data {
        guard let secure = try channel.protect(command) else { throw DocumentError.forged }
        return try channel.open(try await send(secure, to: tag))
    }
}
