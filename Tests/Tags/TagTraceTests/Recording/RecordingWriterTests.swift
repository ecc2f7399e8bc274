// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

@Suite struct RecordingWriterTests {
    private let request = Frame(bits: [0x26], validBitsInLastByte: 7)

    @Test("What was written is read as it happened")
    func roundTrip() throws {
        var writer = RecordingWriter(reader: "simulator")
        writer.addField(isOn: true, at: .milliseconds(1))
        writer.addPresence(at: .milliseconds(2))
        writer.addExchange(
            .nfcA,
            request: request,
            result: .success(Frame([0x44, 0x00], checksum: .none)),
            timeout: .milliseconds(5),
            at: .milliseconds(3),
            duration: .microseconds(428)
        )
        writer.addArrival(of: [4, 5, 6, 7], number: 2, at: .milliseconds(4))
        writer.addArrival(of: [4, 5, 6, 7], number: 2, at: .milliseconds(4))
        writer.addExchange(
            .nfcF,
            request: Frame([0x06, 0x00, 0x12, 0xFC, 0x01, 0x03]),
            result: .failure(LinkError(.timeout, "No tag answered in time.")),
            timeout: .milliseconds(5),
            at: .milliseconds(5),
            duration: .milliseconds(8)
        )
        writer.addField(isOn: false, at: .milliseconds(14))
        let recording = try Recording(parsing: writer.bytes)
        #expect(recording.readerName == "simulator")
        #expect(recording.exchangeCount == 2)
        #expect(recording.trace.exchanges[0].answer == .success(Frame([0x44, 0x00], checksum: .none)))
        #expect(recording.trace.exchanges[0].duration == .microseconds(428))
        #expect(recording.trace.lines.map(\.meaning).filter { $0.contains("arrival 2") }.count == 1)
        #expect(recording.trace.lines.first?.meaning == "field on")
        #expect(recording.trace.lines.last?.meaning == "field off")
    }

    @Test("A password is not written")
    func secrets() throws {
        var writer = RecordingWriter(reader: "simulator")
        writer.addExchange(
            .nfcA,
            request: Frame([0x1B, 0xDE, 0xAD, 0xBE, 0xEF]),
            result: .success(Frame([0x12, 0x34])),
            timeout: .milliseconds(5),
            at: .zero,
            duration: .zero
        )
        #expect(!String(decoding: writer.bytes, as: UTF8.self).contains("deadbeef"))
        let frame = try #require(try Recording(parsing: writer.bytes).trace.exchanges.first?.request)
        #expect(frame.bytes == [0x1B, 0, 0, 0, 0])
    }

    @Test("An arrival is written when it is new, and once")
    func arrivals() throws {
        var writer = RecordingWriter(reader: "simulator")
        for (milliseconds, number) in [(1, 2), (2, 2), (3, 4), (4, 4), (5, 2)] as [(Int, UInt64)] {
            writer.addArrival(of: [4, 5, 6, 7], number: number, at: .milliseconds(milliseconds))
            writer.addArrival(of: [8, 5, 6, 7], number: 2, at: .milliseconds(milliseconds))
        }
        let lines = try Recording(parsing: writer.bytes).trace.lines.map { "\($0.time ?? .zero): \($0.meaning)" }
        #expect(
            lines == [
                "0.001 seconds: 04050607 is near, arrival 2", "0.001 seconds: 08050607 is near, arrival 2",
                "0.003 seconds: 04050607 is near, arrival 4", "0.005 seconds: 04050607 is near, arrival 2",
            ]
        )
    }

    @Test("A key is not written that is one because of what the tag answered before")
    func secretsByAnswers() throws {
        let challenge = [0xAF] + [UInt8](repeating: 7, count: 8)
        for (answer, isSecret) in [(challenge, true), ([0x00], false)] as [([UInt8], Bool)] {
            var writer = RecordingWriter(reader: "simulator")
            for (request, answer) in [([0x1A, 0x00], answer), ([0xA2, 0x2C, 0xDE, 0xAD, 0xBE, 0xEF], [0x0A])]
                as [([UInt8], [UInt8])]
            {
                writer.addExchange(
                    .nfcA,
                    request: Frame(request),
                    result: .success(Frame(answer)),
                    timeout: .milliseconds(5),
                    at: .zero,
                    duration: .zero
                )
            }
            #expect(String(decoding: writer.bytes, as: UTF8.self).contains("deadbeef") == !isSecret)
        }
    }

    @Test("A page is a secret only until the field goes off, since another tag may come then")
    func secretsOfOneField() throws {
        let write = Frame([0xA2, 0x2B, 0xDE, 0xAD, 0xBE, 0xEF])
        for isSwitched in [false, true] {
            var writer = RecordingWriter(reader: "simulator")
            func add(_ request: Frame, _ answer: Frame) {
                writer.addExchange(
                    .nfcA,
                    request: request,
                    result: .success(answer),
                    timeout: .milliseconds(5),
                    at: .zero,
                    duration: .zero
                )
            }
            add(Frame([0x60]), Frame([0, 4, 4, 2, 1, 0, 0x0F, 3]))
            if isSwitched { writer.addField(isOn: false, at: .zero) }
            add(write, Frame(bits: [0x0A], validBitsInLastByte: 4))
            let frames = try Recording(parsing: writer.bytes).trace.exchanges.map(\.request)
            #expect(frames.last == (isSwitched ? write : Frame([0xA2, 0x2B, 0, 0, 0, 0])))
        }
    }
}
