// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Synchronization

/// An app that works with tags: it connects to each, and runs commands.
final class TagProbe: NSObject, Probe, NFCTagReaderSessionDelegate, Sendable {
    private let session = Mutex<NFCTagReaderSession?>(nil)
    private let tag = Mutex<NFCTag?>(nil)

    func begin() {
        let session = NFCTagReaderSession(pollingOption: [.iso14443, .iso15693, .iso18092], delegate: self, queue: nil)
        guard let session else { return SessionProbe.say("ended -2") }
        self.session.withLock { $0 = session }
        session.begin()
    }

    func invalidate() { session.withLock { $0 }?.invalidate() }

    func restart() { session.withLock { $0 }?.restartPolling() }

    func perform(_ command: String, _ argument: String) async {
        guard let tag = tag.withLock({ $0 }) else { return SessionProbe.say("no tag") }
        do {
            switch command {
            case "identifier": SessionProbe.say("identifier \(SessionProbe.text(Self.identifier(tag)))")
            case "read": SessionProbe.say("message \(try await Self.ndef(tag).readNDEF().summary)")
            case "status":
                let (status, capacity) = try await Self.ndef(tag).queryNDEFStatus()
                SessionProbe.say("status \(status.rawValue) \(capacity)")
            case "write":
                guard let message = NFCNDEFMessage(data: SessionProbe.bytes(argument)) else { return }
                try await Self.ndef(tag).writeNDEF(message)
                SessionProbe.say("written")
            case "apdu":
                guard case .iso7816(let card) = tag, let apdu = NFCISO7816APDU(data: SessionProbe.bytes(argument))
                else { return SessionProbe.say("no card") }
                let (data, sw1, sw2) = try await card.sendCommand(apdu: apdu)
                SessionProbe.say("answer \(SessionProbe.text(data + [sw1, sw2]))")
            case "until-lost":
                // Apple's sample waits like this until a tag is removed.
                guard let session = session.withLock({ $0 }) else { return }
                while (try? await session.connect(to: tag)) != nil, tag.isAvailable {
                    SessionProbe.say("near")
                    try await Task.sleep(for: .milliseconds(500))
                }
                SessionProbe.say("gone")
            case "until-unavailable":
                // An SDK for hardware keys waits like this.
                while session.withLock({ $0 })?.connectedTag?.isAvailable == true {
                    SessionProbe.say("near")
                    try await Task.sleep(for: .milliseconds(500))
                }
                SessionProbe.say("gone")
            default: SessionProbe.say("no command \(command)")
            }
        } catch {
            SessionProbe.say("error \(SessionProbe.number(error))")
        }
    }

    private static func ndef(_ tag: NFCTag) -> any NFCNDEFTag {
        switch tag {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }

    private static func identifier(_ tag: NFCTag) -> Data {
        switch tag {
        case .feliCa(let tag): tag.currentIDm
        case .iso7816(let tag): tag.identifier
        case .iso15693(let tag): tag.identifier
        case .miFare(let tag): tag.identifier
        }
    }

    private static func name(_ tag: NFCTag) -> String {
        switch tag {
        case .feliCa: "felica"
        case .iso7816: "iso7816"
        case .iso15693: "iso15693"
        case .miFare: "mifare"
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { SessionProbe.say("active") }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let found = tags.first else { return }
        Task {
            do {
                try await session.connect(to: found)
                tag.withLock { $0 = found }
                SessionProbe.say("tag \(Self.name(found))")
            } catch {
                SessionProbe.say("error \(SessionProbe.number(error))")
            }
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        SessionProbe.say("ended \(SessionProbe.number(error))")
    }
}
