// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

@Suite struct `Values that an app gives and gets` {
    @Test func `A configuration keeps what it is given, and a copy is another one`() throws {
        let custom = NFCISO15693CustomCommandConfiguration(
            manufacturerCode: 4,
            customCommandCode: 0xA1,
            requestParameters: Data([1, 2])
        )
        #expect(custom.maximumRetries == 0 && custom.retryInterval == 0)
        #expect(
            (custom.manufacturerCode, custom.customCommandCode) == (4, 0xA1)
                && custom.requestParameters == Data([1, 2])
        )
        (custom.maximumRetries, custom.retryInterval) = (3, 0.5)
        let copy = try #require(custom.copy() as? NFCISO15693CustomCommandConfiguration)
        (custom.manufacturerCode, custom.customCommandCode, custom.requestParameters) = (5, 0xA2, Data())
        (custom.maximumRetries, custom.retryInterval) = (0, 0)
        #expect((copy.manufacturerCode, copy.customCommandCode) == (4, 0xA1) && copy.requestParameters == Data([1, 2]))
        #expect(copy.maximumRetries == 3 && copy.retryInterval == 0.5)
        #expect((custom.manufacturerCode, custom.customCommandCode) == (5, 0xA2) && custom.requestParameters.isEmpty)

        let read = NFCISO15693ReadMultipleBlocksConfiguration(range: NSRange(location: 2, length: 9), chunkSize: 4)
        #expect(read.maximumRetries == 0 && read.retryInterval == 0 && read.chunkSize == 4)
        (read.maximumRetries, read.retryInterval) = (7, 1.5)
        let other = try #require(read.copy() as? NFCISO15693ReadMultipleBlocksConfiguration)
        (read.range, read.chunkSize) = (NSRange(location: 0, length: 1), 1)
        #expect(other.range == NSRange(location: 2, length: 9) && other.chunkSize == 4)
        #expect(other.maximumRetries == 7 && other.retryInterval == 1.5)
        #expect(read.range == NSRange(location: 0, length: 1) && read.chunkSize == 1)
        let whole = NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: 0, length: 1),
            chunkSize: 1,
            maximumRetries: 2,
            retryInterval: 0.25
        )
        #expect(whole.maximumRetries == 2 && whole.retryInterval == 0.25)
    }

    @Test func `Flags have the bits of the standard`() {
        let request: [NFCISO15693RequestFlag] = [
            .dualSubCarriers, .highDataRate, .protocolExtension, .select, .address, .option, .commandSpecificBit8,
        ]
        #expect(request.map(\.rawValue) == [1, 2, 8, 16, 32, 64, 128])
        let response: [NFCISO15693ResponseFlag] = [
            .error, .responseBufferValid, .finalResponse, .protocolExtension, .blockSecurityStatusBit5,
            .blockSecurityStatusBit6, .waitTimeExtension,
        ]
        #expect(response.map(\.rawValue) == [1, 2, 4, 8, 16, 32, 64])
        let options: [NFCTagReaderSession.PollingOption] = [.iso14443, .iso15693, .iso18092, .pace]
        #expect(options.map(\.rawValue) == [1, 2, 4, 8])
    }

    @Test func `A client's own card takes no PACE unless it says so`() {
        #expect(!OldCard().supportsPACE)
    }

    /// A tag of a client's own that was written before there was PACE.
    private final class OldCard: NSObject, NFCISO7816Tag {
        var initialSelectedAID: String { "" }
        var identifier: Data { Data() }
        var historicalBytes: Data? { nil }
        var applicationData: Data? { nil }
        var proprietaryApplicationDataCoding: Bool { false }
        var isAvailable: Bool { false }
        var type: __NFCTagType { .iso7816Compatible }
        var session: (any NFCReaderSessionProtocol)? { nil }
        static var supportsSecureCoding: Bool { true }

        func sendCommand(
            apdu: NFCISO7816APDU,
            completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
        ) {}
        func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {}
        func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void) {}
        func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {}
        func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {}
        func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self }
        func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { nil }
        func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
        func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }
        func copy(with zone: NSZone?) -> Any { self }
        func encode(with coder: NSCoder) {}
        override init() {}
        required init?(coder: NSCoder) { nil }
    }
}
