// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import SystemLibrary
import TestThreads
import Testing

/// Descriptors with the number 0, and failing waits. Each test leaves its process unusable, so it has its own.
@Suite(.timeLimit(.minutes(5))) struct `A process with other descriptors than most` {
    @Test(.ownThreads) func `The first number of a descriptor is as good as any`() async {
        await #expect(processExitsWith: .success) {
            let process = try ProgramLaunch("/bin/sleep", ["sleep", "600"]).start()
            // Whatever is opened next has the number 0.
            close(0)
            #expect(ProcessHandle(process)?.send(0) == true)
            // It ends that process with this one.
            #expect(Lifeline(ending: process) != nil)
            #expect(FolderNames.read("/proc/self")?.contains("stat") == true)
            let folder = unsafe open("/proc/self", O_RDONLY | O_DIRECTORY)
            let other = fcntl(folder, F_DUPFD, 10)
            close(folder)
            #expect(FolderNames.read(other)?.contains("stat") == true)
            #expect(FolderWatch("/usr")?.descriptor == 0)
            #expect(DescriptorPipe()?.reader == 0)
        }
    }

    @Test(.ownThreads) func `A watch ends when it can wait no longer`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            alarm(20)
            let pipe = DescriptorPipe()
            let watch = ReadWatch(pipe?.reader ?? -1, queue: DispatchQueue(label: "watched")) {
                // poll(2) takes no more descriptors than a process may have.
                var none = rlimit(rlim_cur: 0, rlim_max: 0)
                return unsafe setrlimit(__rlimit_resource_t(7), &none) == 0
            } onClose: {
                _exit(42)
            }
            #expect(watch != nil)
            #expect(unsafe write(pipe?.writer ?? -1, "x", 1) == 1)
            while true { pause() }
        }
    }

    @Test func `Descriptors are given under numbers that are free here, in any order`() throws {
        let pipes = try (0..<8).map { _ in try #require(DescriptorPipe()) }
        // Far from those that others open meanwhile, and from each other's copies at first.
        let first = fcntl(2, F_DUPFD_CLOEXEC, 300)
        close(first)
        let texts = try NumberedPipes.texts(through: pipes, from: first)
        #expect(texts == (first..<first + 8).map { "\($0)\n" })
    }
}
