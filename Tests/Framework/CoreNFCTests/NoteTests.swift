// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Glibc
import NFCRuntime
import NFCTestKit
import TestThreads
import Testing

/// Checks what an app without property lists, or with the wrong ones, prints for its author.
@Suite(.timeLimit(.minutes(5))) struct `Notes about an app's property lists` {
    /// Begins a session in this process, and returns the code with which it ends.
    private static func end(_ make: (TagSessionDelegate) -> NFCReaderSession?) async -> Int? {
        let delegate = TagSessionDelegate()
        let session = make(delegate)
        session?.begin()
        var events = delegate.events.makeAsyncIterator()
        return await events.end()?.errorCode
    }

    private static func lines(_ output: [UInt8], _ start: String) -> [String] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init).filter { $0.hasPrefix(start) }
    }

    @Test(.ownThreads) func `An app without them is told once what iOS would need`() async throws {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            unsafe setenv("NFC_READER", "none", 1)
            for _ in 0..<3 {
                let code = await Self.end {
                    NFCTagReaderSession(pollingOption: [.iso14443, .iso18092], delegate: $0, queue: nil)
                }
                precondition(code == NFCReaderError.Code.readerErrorUnsupportedFeature.rawValue)
            }
        }
        let notes = Self.lines(end.standardErrorContent, "CoreNFC: this runs here, and on iOS it would need more.")
        #expect(notes.count == 1)
        for key in ["NFCReaderUsageDescription", "readersession.formats", "felica.systemcodes"] {
            #expect(notes.first?.contains(key) == true)
        }
    }

    @Test(.ownThreads) func `An app that has all that iOS would need is told nothing`() async throws {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            unsafe setenv("NFC_READER", "none", 1)
            let app = AppConfiguration(
                infoPlist: .init(path: "Info.plist", values: ["NFCReaderUsageDescription": ["Cards are read."]]),
                entitlements: .init(
                    path: "App.entitlements",
                    values: ["com.apple.developer.nfc.readersession.formats": ["TAG"]]
                )
            )
            let code = await AppConfiguration.$scoped.withValue(app) {
                await Self.end { NFCTagReaderSession(pollingOption: .iso14443, delegate: $0, queue: nil) }
            }
            precondition(code == NFCReaderError.Code.readerErrorUnsupportedFeature.rawValue)
        }
        #expect(Self.lines(end.standardErrorContent, "CoreNFC: this runs here").isEmpty)
    }

    @Test(.ownThreads) func `A test is told nothing of it`() async throws {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await withField { _ in
                let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: TagSessionDelegate(), queue: nil)
                session?.begin()
                session?.invalidate()
            }
        }
        #expect(Self.lines(end.standardErrorContent, "CoreNFC: this runs here").isEmpty)
    }

    @Test(.ownThreads) func `A session that is refused says why`() async throws {
        let end = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let app = AppProperties(infoPlist: ["NFCReaderUsageDescription": "Cards are read."], entitlements: [:])
            try await withField(app: app) { _ in
                let code = await Self.end { NFCTagReaderSession(pollingOption: .iso14443, delegate: $0, queue: nil) }
                precondition(code == NFCReaderError.Code.readerErrorSecurityViolation.rawValue)
            }
        }
        let refusals = Self.lines(end.standardErrorContent, "CoreNFC: the session was refused.")
        #expect(refusals.count == 1 && refusals.first?.contains("Add it with TAG among its values.") == true)
    }
}
