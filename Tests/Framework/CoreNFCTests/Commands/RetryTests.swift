// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Commands with a configuration` {
    /// A manufacturer's command that is sent again so often, after so many seconds each time.
    private static func custom(retries: Int, interval: TimeInterval) -> NFCISO15693CustomCommandConfiguration {
        NFCISO15693CustomCommandConfiguration(
            manufacturerCode: 7,
            customCommandCode: 0xA0,
            requestParameters: nil,
            maximumRetries: retries,
            retryInterval: interval
        )
    }

    @Test func `A range is read some blocks at a time, and joined`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 1, 1, 2, 2]), .success([0, 3, 3]))
        let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: 4, length: 3),
            chunkSize: 2
        )
        #expect(try await tag.readMultipleBlock(readConfiguration: configuration) == Data([1, 1, 2, 2, 3, 3]))
        #expect(channel.sent.map { Array($0.bytes.suffix(2)) } == [[4, 1], [6, 0]])
    }

    @Test func `A command is sent again as often as it says, and as soon as it says`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693(
            .failure(.noAnswer),
            .failure(.noAnswer),
            .success([0, 7])
        )
        let configuration = Self.custom(retries: 2, interval: 0.5)
        async let answer = tag.sendCustomCommand(commandConfiguration: configuration)
        for attempt in 1...2 {
            while channel.manualClock.scheduledEventCount == 0 { await Task.yield() }
            #expect(channel.sent.count == attempt)
            channel.manualClock.advance(by: .milliseconds(499))
            #expect(channel.sent.count == attempt)
            channel.manualClock.advance(by: .milliseconds(1))
        }
        #expect(try await answer == Data([7]))
    }

    @Test func `Retries in vain end with their own error, and without retries the error is the tag's`() async throws {
        for (retries, code) in [
            (3, NFCReaderError.Code.readerTransceiveErrorRetryExceeded), (0, .readerTransceiveErrorTagResponseError),
        ] {
            let (channel, tag) = try ScriptedTag.iso15693()
            let configuration = Self.custom(retries: retries, interval: 0)
            let error = await readerError { try await tag.sendCustomCommand(commandConfiguration: configuration) }
            #expect(error?.code == code)
            #expect(channel.sent.count == retries + 1)
        }
    }

    @Test func `Each chunk of a range is read again, as often as the configuration says`() async throws {
        let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: 4, length: 4),
            chunkSize: 2,
            maximumRetries: 1,
            retryInterval: 0
        )
        let (channel, tag) = try ScriptedTag.iso15693(
            .failure(.noAnswer),
            .success([0, 1, 1, 2, 2]),
            .failure(.noAnswer),
            .success([0, 3, 3, 4, 4])
        )
        #expect(try await tag.readMultipleBlock(readConfiguration: configuration) == Data([1, 1, 2, 2, 3, 3, 4, 4]))
        #expect(channel.sent.map { Array($0.bytes.suffix(2)) } == [[4, 1], [4, 1], [6, 1], [6, 1]])
        let (failing, other) = try ScriptedTag.iso15693(
            .success([0, 1, 1, 2, 2]),
            .failure(.noAnswer),
            .failure(.noAnswer),
            .success([0, 3, 3, 4, 4])
        )
        let error = await readerError { try await other.readMultipleBlock(readConfiguration: configuration) }
        #expect(error?.code == .readerTransceiveErrorRetryExceeded && failing.sent.count == 3)
    }

    @Test func `A tag that is lost, or that reports an error, is not asked again`() async throws {
        for answer in [Result<[UInt8], NFCReaderError>.failure(.lost), .success([1, 0x0F])] {
            let (channel, tag) = try ScriptedTag.iso15693(answer)
            let configuration = Self.custom(retries: 5, interval: 0)
            #expect(await readerError { try await tag.sendCustomCommand(commandConfiguration: configuration) } != nil)
            #expect(channel.sent.count == 1)
        }
    }

    @Test func `A tag that is lost while it is asked again is lost, and one that reports an error then says which`()
        async throws
    {
        let configuration = Self.custom(retries: 5, interval: 0)
        let answers: [(Result<[UInt8], NFCReaderError>, NFCReaderError.Code)] = [
            (.failure(.lost), .readerTransceiveErrorTagConnectionLost),
            (.success([1, 0x0F]), .readerTransceiveErrorTagResponseError),
        ]
        for (answer, code) in answers {
            let (channel, tag) = try ScriptedTag.iso15693(.failure(.noAnswer), .failure(.noAnswer), answer)
            let error = await readerError { try await tag.sendCustomCommand(commandConfiguration: configuration) }
            #expect(error?.code == code && channel.sent.count == 3)
        }
    }

    @Test func `A command that waits to be sent again keeps to the configuration that it was given`() throws {
        let (channel, tag) = try ScriptedTag.iso15693(.failure(.noAnswer), .failure(.noAnswer), .success([0, 7]))
        let configuration = Self.custom(retries: 2, interval: 0.5)
        tag.sendCustomCommand(
            commandConfiguration: configuration,
            completionHandler: { (_: Data, _: (any Error)?) in }
        )
        configuration.maximumRetries = 0
        configuration.retryInterval = 60
        #expect(channel.sent.count == 1)
        for attempt in 2...3 {
            channel.manualClock.advance(by: .milliseconds(500))
            #expect(channel.sent.count == attempt)
        }
        #expect(Set(channel.sent.map(\.bytes)).count == 1)
    }

    @Test func `A configuration may go to its bounds, and not beyond`() async throws {
        for (manufacturer, command, retries, interval) in [
            (0, 0xA0, 0, 0.0), (255, 0xDF, 256, 0), (7, 0xA0, 0, 60),
        ] {
            let (channel, tag) = try ScriptedTag.iso15693(.success([0, 7]))
            let configuration = NFCISO15693CustomCommandConfiguration(
                manufacturerCode: manufacturer,
                customCommandCode: command,
                requestParameters: nil,
                maximumRetries: retries,
                retryInterval: interval
            )
            #expect(try await tag.sendCustomCommand(commandConfiguration: configuration) == Data([7]))
            #expect(channel.sent.count == 1)
        }
        let (channel, tag) = try ScriptedTag.iso15693()
        for interval in [60.001, TimeInterval.infinity] {
            let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
                range: NSRange(location: 0, length: 1),
                chunkSize: 1,
                maximumRetries: 0,
                retryInterval: interval
            )
            let error = await readerError { try await tag.readMultipleBlock(readConfiguration: configuration) }
            #expect(error?.code == .tagCommandConfigurationErrorInvalidParameters)
        }
        #expect(channel.sent.isEmpty)
    }

    @Test func `A configuration out of bounds has an error of its own, which says why`() async throws {
        let (channel, tag) = try ScriptedTag.iso15693()
        for (manufacturer, command, retries, interval) in [
            (256, 0xA0, 0, 0.0), (7, 0x9F, 0, 0), (7, 0xE0, 0, 0), (7, 0xA0, -1, 0), (7, 0xA0, 257, 0),
            (7, 0xA0, 0, -1), (7, 0xA0, 0, .nan),
        ] {
            let configuration = NFCISO15693CustomCommandConfiguration(
                manufacturerCode: manufacturer,
                customCommandCode: command,
                requestParameters: nil,
                maximumRetries: retries,
                retryInterval: interval
            )
            let error = await readerError { try await tag.sendCustomCommand(commandConfiguration: configuration) }
            #expect(error?.code == .tagCommandConfigurationErrorInvalidParameters)
            #expect((error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String)?.hasSuffix(".") == true)
        }
        for (range, chunk) in [(NSRange(location: 0, length: 0), 1), (NSRange(location: 0, length: 1), 0)] {
            let configuration = NFCISO15693ReadMultipleBlocksConfiguration(range: range, chunkSize: chunk)
            let error = await readerError { try await tag.readMultipleBlock(readConfiguration: configuration) }
            #expect(error?.code == .tagCommandConfigurationErrorInvalidParameters)
            #expect((error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String)?.hasSuffix(".") == true)
        }
        #expect(channel.sent.isEmpty)
    }
}
