// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

/// Checks where and when an app hears of the end of a session that never reached the reader.
@Suite(.timeLimit(.minutes(1))) struct `The end of a session that never began` {
    private static let key = DispatchSpecificKey<Bool>()

    /// Notes the code of each end, and whether the call came on the session's queue.
    private final class Listener: NSObject, NFCNDEFReaderSessionDelegate, NFCTagReaderSessionDelegate,
        NFCVASReaderSessionDelegate, Sendable
    {
        let ends = Locked<[String]>([])

        private func note(_ event: String) {
            let isOnQueue = DispatchQueue.getSpecific(key: key) == true
            ends.withLock { $0.append(isOnQueue ? event : "\(event) elsewhere") }
        }

        private func end(_ error: any Error) { note("\((error as? NFCReaderError)?.errorCode ?? 0)") }

        func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { note("active") }
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { end(error) }
        func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { note("active") }
        func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {}
        func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) { end(error) }
        func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) { note("active") }
        func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse]) {}
        func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error) { end(error) }
    }

    /// Why a session never begins.
    enum Reason: CaseIterable, Sendable {
        case noReader, noEntitlement, noSystemCodes, noTechnology, noPass, endedBefore, endedWhileItWaits

        /// The code of its end.
        var code: String {
            switch self {
            case .noReader: "1"
            case .noEntitlement, .noSystemCodes: "2"
            case .noTechnology, .noPass: "3"
            case .endedBefore, .endedWhileItWaits: "200"
            }
        }
    }

    private static func session(_ reason: Reason, _ listener: Listener, _ queue: DispatchQueue) -> NFCReaderSession {
        switch reason {
        case .noReader, .noEntitlement, .endedBefore, .endedWhileItWaits:
            NFCNDEFReaderSession(delegate: listener, queue: queue, invalidateAfterFirstRead: true)
        case .noSystemCodes, .noTechnology:
            NFCTagReaderSession(
                configuration: .init(pollingOption: reason == .noTechnology ? [] : [.iso14443, .iso18092]),
                delegate: listener,
                queue: queue
            )
        case .noPass: NFCVASReaderSession(vasCommandConfigurations: [], delegate: listener, queue: queue)
        }
    }

    @Test(arguments: Reason.allCases) func `is told once, on the session's queue, when the call is over`(
        reason: Reason
    ) {
        let app: AppConfiguration =
            switch reason {
            case .noEntitlement:
                AppConfiguration(entitlements: .init(path: "App.entitlements", values: [:]))
            case .noSystemCodes:
                AppConfiguration(
                    infoPlist: .init(path: "Info.plist", values: ["NFCReaderUsageDescription": ["Cards are read."]])
                )
            default: AppConfiguration()
            }
        let (field, sheet) = (VirtualField(), RecordingSheet())
        let reader: NFCEnvironment.Reader = reason == .noReader ? .none(reason: "There is none.") : .field(field)
        let environment = NFCEnvironment(reader: reader, clock: ManualClock(), sheet: sheet, isOfTest: true)
        NFCEnvironment.$scoped.withValue(environment) {
            AppConfiguration.$scoped.withValue(app) {
                let (listener, active, queue) = (Listener(), TagDelegate(), DispatchQueue(label: "given"))
                queue.setSpecific(key: Self.key, value: true)
                let before = NFCNDEFReaderSession(delegate: active, queue: nil, invalidateAfterFirstRead: true)
                if reason == .endedWhileItWaits { before.begin() }
                let session = Self.session(reason, listener, queue)
                session.alertMessage = "Never shown."
                // A call on the queue can't happen before this is over.
                queue.suspend()
                if reason != .endedBefore { session.begin() }
                session.invalidate(errorMessage: "Never shown.")
                session.begin()
                session.invalidate()
                #expect(!session.isReady && listener.ends.withLock { $0 } == [])
                queue.resume()
                queue.sync {}
                #expect(listener.ends.withLock { $0 } == [reason.code])
                #expect(sheet.history.map(\.message).allSatisfy { $0.isEmpty })
                #expect(before.isReady == (reason == .endedWhileItWaits))
                before.invalidate()
                withExtendedLifetime((listener, active)) {}
            }
        }
    }
}
