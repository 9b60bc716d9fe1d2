CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData','{"allComposers":[{"type":"head","composerId":"d0c1b2a3-9485-4768-8a59-b4c3d2e1f0a9","createdAt":1768917600000,"unifiedMode":"agent","name":"Spring tide error"}],"selectedComposerIds":["d0c1b2a3-9485-4768-8a59-b4c3d2e1f0a9","51d1e000-1111-4222-8333-444455556601"]}');
INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata','{"tabs":[{"tabId":"t1","chatTitle":"Old ask tab","lastSendTime":1733000000000,"bubbles":[{"type":"user","id":"u1","text":"what is a tide gauge?"},{"type":"ai","id":"a1","rawText":"An instrument that measures sea level.","modelType":"gpt-4o"}]}]}');
INSERT INTO ItemTable VALUES ('aiService.prompts','[{"text":"why are spring tides wrong in March?","commandType":4}]');
