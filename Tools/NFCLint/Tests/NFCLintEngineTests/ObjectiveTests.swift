// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// Sources in Objective-C are cut into methods and statements by their braces and semicolons.
@Suite struct ObjectiveTests {
    private func lines(_ id: String, _ text: String) -> [Int] {
        let project = Project(MemoryFiles(["Reader.m": Array(text.utf8)]))
        return Linter(Rules.all).check(project).filter { $0.id == id }.map(\.place.position.line)
    }

    @Test func `Objective-C: braces in comments, strings and macros do not count`() {
        let text = """
            #import <CoreNFC/CoreNFC.h>
            #define OPEN {
            @implementation Reader
            /* { */
            - (void)scan {
                NSLog(@"{ \\" {"); // {
                if (![NFCNDEFReaderSession readingAvailable]) { return; }
            }
            - (void)start {
                self.session = [[NFCNDEFReaderSession alloc]
                    initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
            }
            @end
            """
        #expect(lines("SRC001", text) == [10])
    }

    @Test func `Objective-C: a readingAvailable check in the caller satisfies SRC001, also in a React Native method`() {
        let text = """
            #import <CoreNFC/CoreNFC.h>
            @implementation Reader
            RCT_EXPORT_MODULE()
            RCT_EXPORT_METHOD(scan:(NSString *)text callback:(Callback)callback) {
                if (NFCNDEFReaderSession.readingAvailable) { [self startWithText:text]; }
            }
            - (void)startWithText:(NSString *)text {
                self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
            }
            @end
            """
        #expect(lines("SRC001", text) == [])
    }

    @Test func `Objective-C: TXT001 finds a sheet's text that comes through a parameter or a property`() {
        let text = """
            #import <CoreNFC/CoreNFC.h>
            @implementation Reader
            - (void)scan {
                _hint = NSLocalizedString(@"Hold your iPhone near the tag.", nil);
                [self.session setAlertMessage:_hint];
                [self.session beginSession];
            }
            - (void)end {
                [self close:self.session withError:[NSString stringWithFormat:@"The tag has %lu bytes.", self.size]];
                [self close:self.session withError:@"The tag is empty."];
            }
            - (void)close:(NFCReaderSession *)session withError:(NSString *)message {
                [session invalidateSessionWithErrorMessage:message];
            }
            @end
            """
        #expect(lines("TXT001", text) == [4, 9, 10])
    }

    @Test(arguments: [
        "{", "}", "/*", "@\"", "- (void)a { [self a]; }\n", "- a:(", "\\", "RCT_EXPORT_METHOD(",
        "if (tags.count > 1) {", ";",
    ])
    func `Objective-C with 2000 open or cut parts: no finding and no crash`(_ part: String) {
        let text = "#import <CoreNFC/CoreNFC.h>\n" + String(repeating: part, count: 2000)
        #expect(lines("LNT001", text) == [])
    }

    @Test func `Objective-C: a brace that both branches of #if open counts once`() {
        let text = """
            #import <CoreNFC/CoreNFC.h>
            @implementation Reader
            + (BOOL)continueWith:
            #if defined(NEW)
            (id)a {
            #else
            (NSArray *)a {
            #endif
                return YES;
            }
            - (void)scan {
                session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
            }
            @end
            """
        #expect(lines("SRC001", text) == [12])
        #expect(lines("SRC001", text.replacing("#else", with: "#elif defined(OLD)")) == [12])
    }

    @Test(.timeLimit(.minutes(1))) func `Objective-C: fifty thousand nested #if are checked within a minute`() {
        let nested =
            String(repeating: "#if a\n{\n#else\n{\n", count: 50_000) + String(repeating: "#endif\n", count: 20_000)
        #expect(lines("LNT001", "#import <CoreNFC/CoreNFC.h>\n" + nested) == [])
    }
}
