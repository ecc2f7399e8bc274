// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import Testing

/// Pipes whose writers a program has under numbers of its own.
enum NumberedPipes {
    /// Starts a program that writes, to each number it was given, that number.
    ///
    /// - Parameters:
    ///   - pipes: they are closed.
    ///   - first: the number of the first one.
    /// - Returns: what came through each of them.
    static func texts(through pipes: [DescriptorPipe], from first: Int32) throws -> [String] {
        var launch = ProgramLaunch(
            "/usr/bin/env",
            ["env", "bash", "-c", "for n in \"$@\"; do eval \"echo $n >&$n\"; done", "sh"]
        )
        for (index, pipe) in pipes.enumerated() {
            let number = first + Int32(index)
            launch.descriptors[number] = pipe.writer
            launch.arguments.append(String(number))
        }
        let process = try launch.start()
        for pipe in pipes { close(pipe.writer) }
        #expect(waitpid(process, nil, 0) == process)
        return pipes.map { pipe in
            defer { close(pipe.reader) }
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(pipe.reader, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }
}
