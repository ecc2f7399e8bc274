// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NDEF
import NFCSessions
import TagLink
import Testing

@testable import SimulatorModel

/// An app with Core NFC on the simulator's phone: it reads a tag, writes a message if it has one, and ends its session.
final class TestApp: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    enum Event: Sendable {
        case active, several
        /// The codes of the errors of the read and the write.
        case done([NFCReaderError.Code?])
        case ended(NFCReaderError.Code?)
    }

    private let simulator: Simulator
    private let program: TestProgram
    private let message: NFCNDEFMessage?
    private let prepare: @Sendable () -> Void
    private let events: AsyncStream<Event>
    private let event: AsyncStream<Event>.Continuation
    private let session = Locked<NFCNDEFReaderSession?>(nil)

    /// - Parameters:
    ///   - prepare: called when a tag is connected.
    init(
        _ simulator: Simulator,
        writing link: String? = nil,
        prepare: @escaping @Sendable () -> Void = {}
    ) throws {
        self.simulator = simulator
        self.prepare = prepare
        program = try TestProgram(simulator, name: "App")
        let record = link.flatMap { NFCNDEFPayload.wellKnownTypeURIPayload(string: $0) }
        message = record.map { NFCNDEFMessage(records: [$0]) }
        (events, event) = AsyncStream.makeStream()
    }

    /// Runs a session.
    ///
    /// - Parameter user: what the user does once the session is active; called with each event until the session has
    ///   ended.
    /// - Returns: the codes of the errors of the read and the write.
    @discardableResult
    func scan(_ user: (TestApp, Event) throws -> Void) async throws -> [NFCReaderError.Code?] {
        program.ask(["do": "claim"])
        program.send([
            "do": "event", "session": 1, "kind": "session", "name": "begin", "detail": "NFCNDEFReaderSession",
        ])
        let app = try #require(simulator.read { $0.apps.apps.first?.id })
        let environment = NFCEnvironment(reader: .field(PhoneReader(simulator: simulator, source: app)))
        NFCEnvironment.$scoped.withValue(environment) {
            let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
            self.session.withLock { $0 = session }
            session.begin()
        }
        var codes: [NFCReaderError.Code?] = []
        for await event in events {
            if case .done(let errors) = event { codes = errors }
            guard case .ended(let code) = event else {
                try user(self, event)
                continue
            }
            let end = "\(code?.rawValue ?? 0): the session has ended"
            program.send(["do": "event", "session": 1, "kind": "session", "name": "invalidate", "detail": .string(end)])
            program.ask(["do": "release"])
            break
        }
        program.close()
        return codes
    }

    /// The user presses Cancel.
    func cancel() throws {
        program.ask(["do": "sheet", "state": "ready", "title": "", "message": ""])
        _ = try simulator.perform(["do": "cancel_sheet"])
        session.withLock { $0 }?.invalidate()
    }

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { event.yield(.active) }

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        program.send([
            "do": "event", "session": 1, "kind": "callback", "name": "readerSession(_:didDetect:)",
            "detail": .string(tags.count == 1 ? "1 tag" : "\(tags.count) tags"),
        ])
        guard let tag = tags.first, tags.count == 1 else {
            event.yield(.several)
            return session.restartPolling()
        }
        session.connect(to: tag) { error in
            self.report("connect", error: error)
            self.prepare()
            tag.readNDEF { read, readError in
                self.report("readNDEF", received: read, error: readError)
                guard let message = self.message else { return self.end(session, [readError]) }
                tag.writeNDEF(message) { error in
                    self.report("writeNDEF", sent: message, error: error)
                    self.end(session, [readError, error])
                }
            }
        }
    }

    /// Reports a call as the framework does for an app at the simulator's socket.
    private func report(
        _ name: String,
        sent: NFCNDEFMessage? = nil,
        received: NFCNDEFMessage? = nil,
        error: (any Error)?
    ) {
        let hex = { (message: NFCNDEFMessage?) -> JSON in
            let records = message?.records.map {
                NDEFRecord(.wellKnown, type: $0.type, identifier: $0.identifier, payload: $0.payload)
            }
            return .string(((try? records.map { try NDEFMessage($0).encoded() }) ?? []).hex)
        }
        program.send([
            "do": "event", "session": 1, "kind": "call", "name": .string(name), "sent": hex(sent),
            "received": hex(received), "error": JSON(error.map { ($0 as NSError).code }),
        ])
    }

    private func end(_ session: NFCNDEFReaderSession, _ errors: [(any Error)?]) {
        event.yield(.done(errors.map { ($0 as? NFCReaderError)?.code }))
        session.invalidate()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        event.yield(.ended((error as? NFCReaderError)?.code))
    }
}
