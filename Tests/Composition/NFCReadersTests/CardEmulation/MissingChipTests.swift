// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCReaders
import NFCRuntime
import SessionTesting
import SystemLibrary
import TestThreads
import Testing

/// Checks what a person reads when the PN532 that is to show an app's card is not there.
@Suite(.timeLimit(.minutes(1))) struct `The notice of a PN532 that is missing` {
    @Test(.ownThreads) func `is on standard error, with its control characters escaped`() async {
        await #expect(processExitsWith: .success) {
            let pipe = try #require(DescriptorPipe(blocks: false))
            #expect(dup2(pipe.writer, STDERR_FILENO) == STDERR_FILENO)
            let environment = NFCEnvironment(ReaderConfiguration(reader: "pn532:/tmp/ocn-no-\u{1B}-line"))
            let port = try #require(environment.cardPort)
            let card = RecordingCard()
            #expect(port.attach(card))
            port.setEmulating(true)
            var text: [UInt8] = []
            func hasLine() -> Bool {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = unsafe read(pipe.reader, &buffer, buffer.count)
                text += buffer.prefix(max(0, count))
                return text.last == 0x0A
            }
            try await waitWhile(!hasLine())
            let line = String(decoding: text, as: UTF8.self)
            #expect(line.hasPrefix("There is no /tmp/ocn-no-\\u{1b}-line. ") && line.hasSuffix(".\n"), "\(line)")
            #expect(card.log == ["deselected"])
        }
    }
}
