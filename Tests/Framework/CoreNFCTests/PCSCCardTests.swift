// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCReaders
import NFCRuntime
import ReaderEmulation
import TagLink
import Testing

/// An app that is a card, met through the driver that pcscd loads.
@Suite(.timeLimit(.minutes(5))) struct `A card session behind pcscd` {
    private let lun: UInt = 0x20_0000

    private func wait(for presence: Int) async throws {
        for _ in 0..<5000 {
            if IFDHICCPresence(lun) == presence { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("The card did not come or go in five seconds.")
    }

    /// Calls the driver on another thread, because it blocks until the answer.
    private func call<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await handedOver { done in DispatchQueue.global().async { done(body()) } }
    }

    private func power(_ action: UInt) async -> [UInt8] {
        await call { [lun] in
            var atr = [UInt8](repeating: 0, count: 33)
            var length: UInt = 33
            let result = unsafe IFDHPowerICC(lun, action, &atr, &length)
            return result == 0 ? Array(atr.prefix(Int(length))) : []
        }
    }

    private func transmit(_ apdu: [UInt8]) async -> [UInt8] {
        await call { [lun] in
            var apdu = apdu
            var response = [UInt8](repeating: 0, count: 300)
            var length: UInt = 300
            var header = IFDHeader(protocol: 1, length: 16)
            let result = unsafe IFDHTransmitToICC(lun, header, &apdu, UInt(apdu.count), &response, &length, &header)
            return result == 0 ? Array(response.prefix(Int(length))) : []
        }
    }

    @Test func `PC/SC programs meet the app as a card`() async throws {
        // On its own threads, because the driver can't wait until the shared threads of all tests are free.
        try await withTaskExecutorPreference(ServerExecutor(label: "PCSCCardTests")) { try await meetTheApp() }
    }

    private func meetTheApp() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ocn-card-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/reader.sock"
        let environment = NFCEnvironment(ReaderConfiguration(reader: "none", cardReader: "pcsc:" + path))
        var name = Array("/dev/null:\(path)".utf8CString)
        #expect(unsafe IFDHCreateChannelByName(lun, &name) == 0)
        try await NFCEnvironment.$scoped.withValue(environment) {
            #expect(CardSession.isSupported)
            let session = try await CardSession()
            async let log = `A card session`.serve(session)
            #expect(IFDHICCPresence(lun) == 616)
            try await session.startEmulation()
            try await wait(for: 615)
            #expect(await power(500) == [0x3B, 0x80, 0x80, 0x01, 0x01])
            // The reader answers for the UID, which is a random one, and the app for its application.
            let uid = await transmit([0xFF, 0xCA, 0, 0, 0])
            #expect(uid.count == 6)
            #expect(uid.first == 0x08)
            #expect(await transmit(`A card session`.select) == [0x90, 0x00])
            #expect(await transmit(`A card session`.read) == [0xB0, 0x90, 0x00])
            // A reset takes the selection.
            _ = await power(502)
            #expect(await transmit(`A card session`.read) == [0x6A, 0x82])
            await session.stopEmulation(status: .success)
            try await wait(for: 616)
            session.invalidate()
            let events = try await log
            #expect(events.contains("detected"))
            #expect(events.contains("a4"))
            #expect(events.contains("deselected"))
            #expect(events.last == "invalidated")
        }
        #expect(IFDHCloseChannel(lun) == 0)
    }
}
